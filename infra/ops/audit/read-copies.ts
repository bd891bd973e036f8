import { callS3 } from '../../../shared/aws/s3.ts'
import { copiesPrefix } from '../../../shared/aws/signing-key-names.ts'

/** Lists the names of all evidence copies. Includes deleted copies, because S3 keeps their versions. */
export async function readCopies(address: string | undefined): Promise<string[] | undefined> {
  if (!address) return undefined
  const names = new Set<string>()
  for (let isLast = false; !isLast;) {
    const query = { versions: '', prefix: copiesPrefix, 'key-marker': [...names].at(-1) ?? '' }
    const page = await callS3(new URL(`?${new URLSearchParams(query).toString()}`, address))
    for (const [, name = ''] of page.matchAll(/<Key>([^<]*)</g)) names.add(name)
    isLast = !page.includes('<IsTruncated>true<')
  }
  return [...names]
}
