-- Tells kimi-acp what you look at in Neovim 0.10 or newer: starts its companion
-- language server for every file, and sends it cursor, selection, what is modified,
-- and the diagnostics of all your servers and linters.
--
--   require("kimi_acp").setup({ cmd = { "/abs/kimi-acp", "lsp" } })

local M = {}

local name = "kimi-acp"

-- root is the workspace of a buffer.
local function root(buf)
  return vim.fs.root(buf, { ".git" }) or vim.fn.getcwd()
end

-- is_file says whether a buffer is a file on disk, and not a chat, a terminal or a list.
local function is_file(buf)
  return vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf):sub(1, 1) ~= ""
end

local function start(options, buf)
  if not is_file(buf) then
    return
  end
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  -- The units of most other servers: Neovim warns when those of a buffer differ.
  capabilities.general = vim.tbl_extend("force", capabilities.general or {}, { positionEncodings = { "utf-16" } })
  vim.lsp.start({ name = name, cmd = options.cmd, root_dir = root(buf), capabilities = capabilities }, { bufnr = buf })
end

local function client_of(buf)
  return vim.lsp.get_clients({ name = name, bufnr = buf })[1]
end

local function notify(client, params)
  if vim.fn.has("nvim-0.11") == 1 then
    client:notify("kimi/editorState", params)
  else
    client.notify("kimi/editorState", params)
  end
end

-- place is a position in LSP's form, in bytes.
local function place(line, col)
  return { line = line, character = col }
end

-- selection is the range of visual mode, nil in other modes. Its end is behind the
-- last character. A block is told as all that lies between its corners.
local function selection()
  local mode = vim.fn.mode()
  if mode ~= "v" and mode ~= "V" and mode ~= "\22" then
    return nil
  end
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  if mode == "V" then
    return { start = place(from[2] - 1, 0), ["end"] = place(to[2], 0) }
  end
  local text = vim.fn.getline(to[2])
  local last = to[3] - 1
  local behind = last + #vim.fn.matchstr(text, ".", last)
  return { start = place(from[2] - 1, from[3] - 1), ["end"] = place(to[2] - 1, behind) }
end

local function diagnostics(buf)
  local items = {}
  for _, d in ipairs(vim.diagnostic.get(buf)) do
    table.insert(items, {
      range = { start = place(d.lnum, d.col), ["end"] = place(d.end_lnum or d.lnum, d.end_col or d.col) },
      severity = d.severity,
      source = d.source,
      code = d.code,
      message = d.message,
    })
  end
  -- An empty Lua table would become an object.
  return #items > 0 and items or vim.empty_dict and vim.json.decode("[]")
end

-- send tells what stands before the user. In a buffer that is no file, as in a chat,
-- it stays with the file before.
local function send()
  local buf = vim.api.nvim_get_current_buf()
  local client = client_of(buf)
  if not client or not is_file(buf) then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local documents, found = {}, {}
  for _, b in ipairs(vim.lsp.get_buffers_by_client_id(client.id)) do
    local uri = vim.uri_from_bufnr(b)
    table.insert(documents, { uri = uri, modified = vim.bo[b].modified })
    table.insert(found, { uri = uri, items = diagnostics(b) })
  end
  notify(client, {
    encoding = "utf-8",
    active = {
      uri = vim.uri_from_bufnr(buf),
      languageId = vim.bo[buf].filetype,
      cursor = place(cursor[1] - 1, cursor[2]),
      selection = selection(),
      visible = { start = place(vim.fn.line("w0") - 1, 0), ["end"] = place(vim.fn.line("w$"), 0) },
    },
    documents = documents,
    diagnostics = found,
  })
end

-- setup starts the companion for files that are open and that will be. Options: cmd,
-- the command of the companion; delay, in milliseconds, for how long moves of the
-- cursor are gathered.
function M.setup(options)
  options = vim.tbl_extend("force", { cmd = { "kimi-acp", "lsp" }, delay = 60 }, options or {})
  local group = vim.api.nvim_create_augroup("kimi_acp", { clear = true })
  local due = false
  local function soon()
    if due then
      return
    end
    due = true
    vim.defer_fn(function()
      due = false
      send()
    end, options.delay)
  end
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = group,
    callback = function(event)
      start(options, event.buf)
    end,
  })
  vim.api.nvim_create_autocmd({
    "LspAttach", "BufEnter", "WinEnter", "CursorMoved", "CursorMovedI", "ModeChanged",
    "TextChanged", "TextChangedI", "BufWritePost", "DiagnosticChanged", "WinScrolled",
  }, { group = group, callback = soon })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      start(options, buf)
    end
  end
end

return M
