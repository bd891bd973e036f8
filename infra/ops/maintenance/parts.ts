import type { Target } from '../target.ts'

/** What the switch stops: requests of clients, events and the workers' queues, and scheduled functions. */
export const partNames = ['requests', 'events', 'schedules'] as const
export type PartName = (typeof partNames)[number]

/** `changing` if AWS has not carried out the switch everywhere, or if it was never completed. */
export type PartState = 'running' | 'stopped' | 'changing'

/** One part of the switch. */
export interface Part {
  read: (target: Target) => Promise<PartState>
  /** Asks AWS to stop the part, or to let it run. AWS carries that out a little later. */
  set: (target: Target, stopped: boolean) => Promise<void>
}

/** The state of a part that has several resources, each of which is stopped, running or between the two. */
export function joinStates(states: PartState[]): PartState {
  const [first = 'changing', ...others] = new Set(states)
  return others.length === 0 ? first : 'changing'
}
