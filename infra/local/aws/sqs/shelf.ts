import type { Message } from './message.ts'

/** The order in which a queue's messages are received. */
export interface Shelf {
  add(message: Message): void
  /** Takes up to `maximum` visible messages; they count as taken until `changed` or `remove` is told about them. */
  take(maximum: number): Message[]
  /** To be called after a message's state has changed. */
  changed(message: Message): void
  remove(message: Message): void
  /** Whether `take` would find anything. */
  hasVisible(): boolean
}

/** A standard queue: whatever is visible, the longest visible first. */
export function createStandardShelf(): Shelf {
  const visible = new Set<Message>()
  const place = (message: Message) => {
    if (message.state === 'visible') visible.add(message)
    else visible.delete(message)
  }
  return {
    add: place,
    changed: place,
    remove: (message) => visible.delete(message),
    hasVisible: () => visible.size > 0,
    take(maximum) {
      const taken: Message[] = []
      for (const message of visible) {
        if (taken.length === maximum) break
        taken.push(message)
      }
      for (const message of taken) visible.delete(message)
      return taken
    },
  }
}

interface Group {
  /** In the order of arrival, those in flight included. */
  messages: Set<Message>
  inFlight: Set<Message>
}

/** A FIFO queue: each group in the order of arrival, and nothing of a group while any of it is in flight. */
export function createFifoShelf(): Shelf {
  const groups = new Map<string, Group>()
  const ready = new Set<Group>()
  const groupOf = (message: Message) => {
    const id = message.groupId ?? ''
    const group = groups.get(id) ?? { messages: new Set(), inFlight: new Set() }
    groups.set(id, group)
    return group
  }
  const review = (group: Group) => {
    const [first] = group.messages
    if (first?.state === 'visible' && group.inFlight.size === 0) ready.add(group)
    else ready.delete(group)
  }
  return {
    add(message) {
      const group = groupOf(message)
      group.messages.add(message)
      review(group)
    },
    changed(message) {
      const group = groupOf(message)
      if (message.state === 'inFlight') group.inFlight.add(message)
      else group.inFlight.delete(message)
      review(group)
    },
    remove(message) {
      const group = groupOf(message)
      group.messages.delete(message)
      group.inFlight.delete(message)
      if (group.messages.size === 0) groups.delete(message.groupId ?? '')
      review(group)
    },
    hasVisible: () => ready.size > 0,
    take(maximum) {
      const taken: Message[] = []
      for (const group of ready) {
        if (taken.length === maximum) break
        for (const message of group.messages) {
          if (message.state !== 'visible' || taken.length === maximum) break
          taken.push(message)
        }
        ready.delete(group)
      }
      return taken
    },
  }
}
