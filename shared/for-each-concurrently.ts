/**
 * Calls `act` for each item, at most `concurrency` at a time. Rejects at the first failure: calls under way
 * are still completed, but no further item is started.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  concurrency: number,
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  // All loops take items from one generator. A failing loop closes the generator, so the others end, too.
  const shared = inTurn(items)
  const work = async () => {
    for await (const item of shared) await act(item)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

async function* inTurn<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  yield* items
}
