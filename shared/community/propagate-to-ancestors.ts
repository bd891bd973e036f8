import { setTimeout as wait } from 'node:timers/promises'
import { ConditionFailed, transact, type Write } from '../db/write.ts'
import { batchReader } from './batch-reader.ts'
import { assignSearchChunks } from './file-texts.ts'
import { type JournalEntry, readJournal, readEntriesAgain, deleteJournalEntry } from './journal.ts'
import { type BTreeShape, standardShape } from './counted-b-tree/node.ts'
import { StaleReadError } from './overtaken.ts'
import { planPropagation, type Rising } from './plan-growth.ts'
import { moveHead, readHead, type TreeHead } from './tree-head.ts'
import { memberProfile, readUpline } from './upline.ts'

/** Most journal entries of a batch: their removal must fit into one transaction. */
const batchSize = 50

/** Most newcomers of a batch: each may change six nodes of a list, and what changes in one list must fit into one transaction. */
const mostNewcomers = 12

/** Most members of a transaction. */
const transactionSize = 100

/** Pieces that are worked out at a time. */
const piecesAtATime = 64

/** How often in a row another worker may get in the way before this one leaves the tree to it. */
const attempts = 10

/** The journal of a tree has not been emptied in the time given: the work is to be taken up again. */
export class TreeUnfinished extends Error {
  override readonly name = 'TreeUnfinished'
}

/**
 * Carries everything in a tree's journal up to all ancestors: their lists, their counts and their sums. Every entry takes
 * effect exactly once at each ancestor, at any depth, whoever else does the same at the same time and wherever an earlier
 * run stopped. Throws TreeUnfinished when something is left at the deadline (epoch milliseconds).
 */
export async function propagateToAncestors(
  rootId: number,
  deadline: number,
  shape: BTreeShape = standardShape,
): Promise<void> {
  for (let failures = 0; ;) {
    if (Date.now() >= deadline || failures === attempts)
      throw new TreeUnfinished('the journal is not empty yet')
    try {
      if ((await growByBatch(rootId, shape)) === 'empty') return
      failures = 0
    } catch (error) {
      if (!(error instanceof ConditionFailed || error instanceof StaleReadError)) throw error
      failures += 1
      await wait(Math.random() * 20 * 2 ** Math.min(failures, 5))
    }
  }
}

/** Carries one batch up, or what is left of the one that was begun, unless the journal is empty. */
async function growByBatch(rootId: number, shape: BTreeShape): Promise<'grown' | 'empty'> {
  const head = await readHead(rootId)
  const entries =
    head.batch.length > 0
      ? await readEntriesAgain(rootId, head.batch)
      : chooseBatch(await readJournal(rootId, batchSize))
  if (entries === undefined) throw new StaleReadError('the batch has been completed')
  if (entries.length === 0) return 'empty'
  const read = batchReader()
  const batch = await Promise.all(
    entries.map(async (entry): Promise<Rising> => {
      const profile = await memberProfile(entry.userId, read)
      return { entry, profile, ancestors: await readUpline(profile, read) }
    }),
  )
  const newcomers = batch.filter(({ entry }) => entry.joined)
  const filing = await assignSearchChunks(rootId, newcomers, head.chunks, read)
  const pieces = planPropagation(batch, shape)
  const work = new Work(rootId, { ...head, chunks: filing.chunks, batch: entries.map(({ sk }) => sk) })
  await work.add(filing.writes, 0)
  // A newcomer who is an ancestor already would have two writes to one profile in one transaction.
  const ancestors = new Set(batch.flatMap((rising) => rising.ancestors))
  if (newcomers.some(({ profile }) => ancestors.has(profile.userId))) await work.commit()
  for (let at = head.done; at < pieces.length; at += piecesAtATime) {
    const window = pieces.slice(at, at + piecesAtATime)
    const writes = await Promise.all(window.map((piece) => piece(filing.chunkOf, read)))
    for (const members of writes) await work.add(members, 1)
  }
  await work.finish(entries)
  return 'grown'
}

/** The oldest entries, as many as one batch may hold. */
function chooseBatch(entries: readonly JournalEntry[]): JournalEntry[] {
  let newcomers = 0
  return entries.filter((entry) => {
    if (entry.joined) newcomers += 1
    return newcomers <= mostNewcomers
  })
}

/** The transactions of a batch, each filled as far as it goes, each moving the head of the tree on. */
class Work {
  readonly #rootId: number
  #head: TreeHead
  #writes: Write[] = []

  constructor(rootId: number, head: TreeHead) {
    this.#rootId = rootId
    this.#head = head
  }

  /** Adds writes that belong together and are so many pieces of the batch. */
  async add(writes: readonly Write[], pieces: number): Promise<void> {
    if (1 + this.#writes.length + writes.length > transactionSize) await this.commit()
    this.#writes.push(...writes)
    this.#head = { ...this.#head, done: this.#head.done + pieces }
  }

  /** Writes what has been added so far. */
  async commit(): Promise<void> {
    if (this.#writes.length === 0) return
    await transact([moveHead(this.#rootId, this.#head), ...this.#writes])
    this.#head = { ...this.#head, version: this.#head.version + 1 }
    this.#writes = []
  }

  /** Writes what is left, and with it removes the entries from the journal. */
  async finish(entries: readonly JournalEntry[]): Promise<void> {
    await this.add(
      entries.map((entry) => deleteJournalEntry(this.#rootId, entry)),
      0,
    )
    this.#head = { ...this.#head, batch: [], done: 0 }
    await this.commit()
  }
}
