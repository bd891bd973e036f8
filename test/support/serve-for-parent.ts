/** Something that answers, and how to end it. */
interface Served<Description> {
  /** What the parent needs to know; sent as JSON. */
  description: Description
  stop: () => Promise<void>
}

/**
 * Runs a server for the process that forked this one: starts it, tells the parent where it answers, and stops
 * it when the parent says so or is gone, however the parent ended.
 */
export async function serveForParent<Description>(start: () => Promise<Served<Description>>): Promise<void> {
  // Until it has started nothing can be stopped in order; the processes that it has started end with this
  // one.
  let stop = (): void => process.exit(1)
  process.once('disconnect', () => stop())
  process.once('message', () => stop())
  // The parent decides when to stop, also after Ctrl-C, which the terminal sends to both.
  process.on('SIGINT', () => undefined)
  const served = await start()
  stop = () => void served.stop().finally(() => process.exit(0))
  process.send?.(served.description)
}
