import type { Store } from '../storage/store.ts'
import { AwsError } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

const unchecked =
  'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters'

/**
 * The S3 operations PutObject and ListObjectVersions for buckets with Object Lock, where every put adds a
 * version and none is deleted. The key rotation copies its evidence (signed records) to such a bucket.
 */
export function s3Service({ database }: Store): Service {
  database.exec('CREATE TABLE IF NOT EXISTS s3_versions (bucket TEXT, key TEXT, body BLOB)')
  const put = database.prepare('INSERT INTO s3_versions (bucket, key, body) VALUES (?, ?, ?)')
  const list = database.prepare('SELECT key FROM s3_versions WHERE bucket = ? ORDER BY key')
  const answer = (body: string) => ({ status: 200, headers: {}, body })
  return ({ method, path, headers, body }) => {
    const [, bucket = '', key = ''] = /^\/([a-z0-9.-]+)\/(evidence\/.+)?$/.exec(path) ?? []
    const arn = `arn:aws:s3:::${bucket}`
    if (method === 'PUT' && key !== '')
      return {
        access: () => [{ action: 's3:PutObject', resource: `${arn}/${key}` }],
        run: () => {
          if (headers['x-amz-checksum-sha256'] === undefined) throw new AwsError('InvalidRequest', unchecked)
          put.run(bucket, key, body)
          return answer('')
        },
      }
    if (method !== 'GET' || bucket === '' || key !== '') return undefined
    const names = () => list.all(bucket).map((row) => `<Version><Key>${String(row['key'])}</Key></Version>`)
    return {
      access: () => [{ action: 's3:ListBucketVersions', resource: arn }],
      run: () => answer(names().join('')),
    }
  }
}
