/** The time of metrics and alarms: the machine's, plus what it was moved on. */
export interface Clock {
  /** The time at which the machine's clock showed this, epoch milliseconds. Default: now. */
  read: (machineTime?: number) => number
  /** Moves the clock on, so that nobody has to wait for the period of an alarm. What was read stays. */
  advance: (milliseconds: number) => void
}

/** Opens a clock that shows the machine's time. */
export function openClock(): Clock {
  const moves: { at: number; by: number }[] = []
  // What has the same millisecond as a move came before it: a test moves the clock after what it measures.
  const moved = (until: number) => moves.reduce((sum, { at, by }) => (at < until ? sum + by : sum), 0)
  return {
    read: (machineTime) =>
      machineTime === undefined ? Date.now() + moved(Infinity) : machineTime + moved(machineTime),
    advance: (by) => void moves.push({ at: Date.now(), by }),
  }
}
