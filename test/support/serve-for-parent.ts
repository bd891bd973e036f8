/** A running server, and how to stop it. */
interface Served<Description> {
  /** The URLs and other facts that the parent needs; sent as JSON. */
  description: Description
  stop: () => Promise<void>
}

/**
 * Runs a server in this child process: starts the server, sends its address to the parent process, and stops
 * it when the parent sends a message or ends.
 */
export async function serveForParent<Description>(start: () => Promise<Served<Description>>): Promise<void> {
  // A server that is still starting cannot be stopped cleanly, so this process just exits.
  let stop = (): void => process.exit(1)
  process.once('disconnect', () => stop())
  process.once('message', () => stop())
  // Ignore Ctrl-C, which the terminal sends to parent and child: the parent decides when to stop the server.
  process.on('SIGINT', () => undefined)
  const served = await start()
  stop = () => void served.stop().finally(() => process.exit(0))
  process.send?.(served.description)
}
