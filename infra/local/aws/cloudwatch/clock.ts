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
  return {
    read: (machineTime = Date.now()) =>
      moves.reduce((time, { at, by }) => (at <= machineTime ? time + by : time), machineTime),
    advance(by) {
      const before = Date.now()
      let at = before
      // Waits for the next millisecond, so that nothing of before has the same time as the move.
      while (at === before) at = Date.now()
      moves.push({ at, by })
    },
  }
}
