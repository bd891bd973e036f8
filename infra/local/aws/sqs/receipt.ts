import { randomBytes } from 'node:crypto'
import { AwsError } from '../wire/aws-error.ts'

/** A receipt handle: names the message, and this one receive of it. */
export function createReceipt(messageId: string): string {
  return Buffer.from(`${messageId}:${randomBytes(12).toString('hex')}`).toString('base64')
}

/** The id of the message that a receipt handle names. */
export function readReceipt(receiptHandle: string): string {
  const match = /^([0-9a-f-]{36}):[0-9a-f]{24}$/.exec(Buffer.from(receiptHandle, 'base64').toString())
  if (match?.[1] === undefined)
    throw new AwsError(
      'ReceiptHandleIsInvalid',
      `The input receipt handle "${receiptHandle}" is not a valid receipt handle.`,
      {
        status: 404,
        queryCode: 'ReceiptHandleIsInvalid',
      },
    )
  return match[1]
}
