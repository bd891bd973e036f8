/** Waits until `check` returns true. Throws after 10 s. */
export async function eventually(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('the condition did not hold within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
