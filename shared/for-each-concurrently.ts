/**
 * Does something with each item, with at most `concurrency` of them at a time. Rejects at the first failure;
 * items under way are then finished, but no further item is begun.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  concurrency: number,
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  // A loop that fails closes the generator, which ends it for all other loops.
  const shared = inTurn(items)
  const work = async () => {
    for await (const item of shared) await act(item)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

async function* inTurn<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  yield* items
}
