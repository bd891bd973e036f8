import { GetCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { db, Integer, tableName } from '../../../shared/db/table.ts'
import { emailKey, readUser, type User } from '../../../shared/users/user.ts'
import { normalizeEmail } from '../../../shared/users/identity.ts'
import { OperationFailed } from '../problems.ts'

const Owner = v.object({ user_id: Integer })

/** A user by their id or their email address. Throws OperationFailed where there is none. */
export async function findUser(reference: string): Promise<User> {
  const userId = /^\d+$/.test(reference) ? Number(reference) : await findOwner(reference)
  const user = userId === undefined ? undefined : await readUser(userId, { consistent: true })
  if (user === undefined) throw new OperationFailed(`there is no user ${reference}`)
  return user
}

async function findOwner(email: string): Promise<number | undefined> {
  const { Item } = await db.send(
    new GetCommand({ TableName: tableName(), Key: emailKey(normalizeEmail(email)), ConsistentRead: true }),
  )
  return Item === undefined ? undefined : v.parse(Owner, Item).user_id
}
