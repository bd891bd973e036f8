import { InvalidArgumentError } from 'commander'

/** Reads an option that is a whole number from 1. */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('not a whole number from 1.')
  return Number(text)
}
