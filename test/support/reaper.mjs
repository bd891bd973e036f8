// Ends processes whose owner is gone. Standard input says what runs: a line `+PID` for each process that has started, `-PID`
// for each that has ended. When the input closes, however its owner died, what still runs gets SIGTERM, and SIGKILL ten
// seconds later. Plain JavaScript on purpose: it must start at once.
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

const graceMilliseconds = 10_000
const running = new Set()

/** Sends a signal (0: none) and says whether the process was there. */
function reaches(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

// Ctrl-C reaches every process of the terminal; the owner decides what ends.
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
