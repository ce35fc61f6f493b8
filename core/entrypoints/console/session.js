// A session that has ended is refused its connection: the page is asked for anew, which leads to the entry.
(words) => window.addEventListener("load", () => {
  document.querySelectorAll("#popup span").forEach((line, at) => (line.textContent = words[at]))
  const look = async () => {
    const answer = await fetch("/v1/me").catch(() => null)
    if (answer?.status === 401) window.location.reload()
  }
  window.socket.on("disconnect", look)
  window.socket.on("connect_error", look)
})
