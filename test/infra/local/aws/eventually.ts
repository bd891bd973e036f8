/** Waits until `check` holds, 10 s at most. */
export async function eventually(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('it did not come about within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
