// The reaper ends processes whose owner has ended. Its standard input has a line `+PID` for each process that
// has started and `-PID` for each that has ended. When the input closes, for whatever reason, the processes
// that still run get SIGTERM, and SIGKILL ten seconds later. This is plain JavaScript because it must start
// at once.
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const graceMilliseconds = 10_000
const running = new Set()

/** Sends a signal to a process (0 only asks) and returns whether the process exists. */
function reaches(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

// Ignore Ctrl-C, which reaches every process of the terminal: the owner decides when its processes end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)

for await (const line of createInterface({ input: process.stdin })) {
  const pid = Number(line.slice(1))
  if (line.startsWith('+')) running.add(pid)
  else running.delete(pid)
}

let left = [...running].filter((pid) => reaches(pid, 'SIGTERM'))
const deadline = Date.now() + graceMilliseconds
while (left.length > 0 && Date.now() < deadline) {
  await setTimeout(50)
  left = left.filter((pid) => reaches(pid, 0))
}
for (const pid of left) reaches(pid, 'SIGKILL')
