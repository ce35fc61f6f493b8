# Sourced by `run` and `nightly`: a virtual environment of its own in $work, and what tests need of
# the system. Needs Python 3.11 or newer.

find_python() {
  for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "no Python 3.11 or newer found; set PYTHON" >&2
  return 1
}

# What tests need of the system, installed where it is missing.
provide() {
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "$* is missing, and only root can install it, with apt-get" >&2
    return
  fi
  export DEBIAN_FRONTEND=noninteractive
  { apt-get install -qq -y "$@" || { apt-get update -qq && apt-get install -qq -y "$@"; }; } \
    >/dev/null 2>&1 || echo "$* cannot be installed here" >&2
}

has_browser() { command -v chromium >/dev/null || command -v google-chrome >/dev/null; }
has_korean() { command -v fc-list >/dev/null && [ -n "$(fc-list :lang=ko)" ]; }

# The wall of sandboxes, a browser, letters for it. Where one cannot be had, the tests that need it
# say that they skip; where all can, no test may skip for the lack of them.
provide_all() {
  command -v bwrap >/dev/null || provide bubblewrap
  has_browser || provide chromium
  has_korean || provide fontconfig fonts-nanum
}

# What nearly every test imports: compiled once, and not by each process of the run.
IMPORTED_FIRST="core.app.program core.entrypoints.cli.app core.entrypoints.api.app alembic hypothesis
  langchain_mcp_adapters.client langchain_openai langgraph.prebuilt mcp nicegui pytest sqlalchemy"

# The versions of the lock file, so that a release elsewhere cannot break an old commit.
install() {
  "$(find_python)" -m venv "$work/venv"
  export PATH="$work/venv/bin:$PATH"
  export PIP_CONSTRAINT="$PWD/requirements.lock" PIP_DISABLE_PIP_VERSION_CHECK=1
  unset PYTHONDONTWRITEBYTECODE # every command that a test starts would compile the program again
  provide_all &
  local providing=$!
  # To compile all takes 20 s more than what is used, which is compiled when it is first imported.
  pip install --quiet --no-compile ".[test]"
  python -c "$(printf 'import %s\n' $IMPORTED_FIRST)" &
  compiling=$! # to be waited for before the tests; what uses other programs goes on meanwhile
  wait "$providing"
  if has_browser && has_korean; then export BROWSER_TESTS=1; fi
}
