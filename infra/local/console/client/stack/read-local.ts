/** What the local stack tells about itself, one of `/_local/…`; throws where it does not answer. */
export async function readLocal<Data>(name: string): Promise<Data> {
  const response = await fetch(`/_local/${name}`)
  if (!response.ok) throw new Error(`/_local/${name} answered ${response.status}`)
  return (await response.json()) as Data
}

/** Calls `show` only when what was read is not what was shown before, so that a selection or an open detail stays. */
export function showChanges<Data>(show: (data: Data) => void): (data: Data) => void {
  let shown: string | undefined
  return (data) => {
    const text = JSON.stringify(data)
    if (text === shown) return
    shown = text
    show(data)
  }
}
