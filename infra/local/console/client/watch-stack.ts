import { makeFacts, type Stack } from './stack/facts.ts'
import { makeKeys, type Keys } from './stack/keys.ts'
import { makeOutbox, type Outbox } from './stack/outbox.ts'
import { makeQueues, type Queues } from './stack/queues.ts'
import { readLocal } from './stack/read-local.ts'
import { makeUsers, type Users } from './stack/users.ts'

const refreshMilliseconds = 3000

/** Shows what the local stack tells about itself, again every few seconds. */
export function watchStack(): void {
  const facts = makeFacts()
  const users = makeUsers()
  const outbox = makeOutbox(() => void refresh())
  const queues = makeQueues()
  const keys = makeKeys()
  const state = document.querySelector('#state')
  document
    .querySelector('#stack')
    ?.replaceChildren(...[users, outbox, keys, queues, facts].map(({ element }) => element))

  const refresh = async (): Promise<void> => {
    try {
      await Promise.all([
        readLocal<Stack>('stack').then(facts.show),
        readLocal<Users>('users').then(users.show),
        readLocal<Outbox>(outbox.path()).then(outbox.show),
        readLocal<Queues>('queues').then(queues.show),
        readLocal<Keys>('keys').then(keys.show),
      ])
      setState('running', '')
    } catch (error) {
      setState(error instanceof Error ? error.message : String(error), 'bad')
    }
  }
  const setState = (words: string, className: string) => {
    if (state === null || state.textContent === words) return
    state.textContent = words
    state.className = className
  }
  void refresh()
  setInterval(() => void refresh(), refreshMilliseconds)
}
