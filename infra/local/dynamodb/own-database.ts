import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

// DynamoDB Local listens on every interface and accepts any signature, so only the access key protects the
// data. There is one database file per access key and region (Amazon DynamoDB: DynamoDB local usage notes). A
// caller with another key gets an empty database.

/** The region of the database. Requests for another region are changed to this one (signFor). */
const region = 'us-east-1'

const databaseFile = /^([0-9a-f]{32})_us-east-1\.db$/

/** Reads the access key of the database in `directory`. Without a database, creates a random key. */
export function findAccessKey(directory: string | undefined): string {
  const files = directory === undefined || !existsSync(directory) ? [] : readdirSync(directory)
  const [, known] = files.map((name) => databaseFile.exec(name)).find((match) => match !== null) ?? []
  return known ?? randomBytes(16).toString('hex')
}

/** Reads the access key from the URL of a DynamoDB Local: the user name in the URL, or `local`. */
const accessKeyIn = (endpoint: string): string => new URL(endpoint).username || 'local'

/** Replaces the caller's access key in an authorization header with the access key of the database. */
export const signFor = (endpoint: string, authorization: string | undefined): string | undefined =>
  authorization?.replace(
    /Credential=[^/]+\/(\d+)\/[^/]+/,
    (_whole, day: string) => `Credential=${accessKeyIn(endpoint)}/${day}/${region}`,
  )

/** Opens a client for the database of a DynamoDB Local. */
export function openDatabase(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: accessKeyIn(endpoint), secretAccessKey: 'local' }
  return new DynamoDBClient({ endpoint: new URL(endpoint).origin, region, credentials })
}
