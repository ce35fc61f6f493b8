// A session that has ended is refused its connection: the page is asked for anew, which leads to the entry.
(words) => {
const keys = (prefix) => Object.keys(localStorage).filter((key) => key.startsWith(prefix))
const typedAt = (key) => Number(localStorage.getItem(`at:${key}`))
// In the order in which they were last typed into: of several states the last one is taken up.
window.draftsOf = (prefix) =>
  Object.fromEntries(
    keys(prefix)
      .sort((one, other) => typedAt(one) - typedAt(other))
      .map((key) => [key.slice(prefix.length), localStorage.getItem(key)]),
  )
window.dropDrafts = (prefix) =>
  keys(prefix)
    .flatMap((key) => [key, `at:${key}`])
    .forEach((key) => localStorage.removeItem(key))
window.addEventListener("load", () => {
  document.querySelectorAll("#popup span").forEach((line, at) => (line.textContent = words[at]))
  const look = async () => {
    const answer = await fetch("/v1/me").catch(() => null)
    if (answer?.status === 401) window.location.reload()
  }
  // What is typed into an editor is kept here until it is saved: a server that starts anew, or a
  // connection that is lost, takes the page away.
  document.addEventListener("input", ({target}) => {
    const draft = target.dataset?.draft
    if (!draft) return
    localStorage.setItem(draft, target.value)
    localStorage.setItem(`at:${draft}`, Date.now())
  })
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  document.cookie = `console_zone=${encodeURIComponent(zone)};path=/console;max-age=31536000;samesite=lax`
  window.socket.on("disconnect", look)
  window.socket.on("connect_error", look)
})
}
