import { expect } from 'vitest'
import type { Endpoint } from '../../shared/http/endpoint.ts'
import { callEndpoint, type TestAnswer, type TestRequest } from './call-endpoint.ts'
import { measureCalls } from './measure-calls.ts'

/** Asserts that an endpoint answers a request with this error code, without a call to the table or to KMS. */
export async function expectRefusalWithoutCalls(
  handler: Endpoint,
  request: TestRequest,
  code: number,
): Promise<void> {
  let answer: TestAnswer | undefined
  const { names } = await measureCalls(async () => {
    answer = await callEndpoint(handler, request)
  })
  expect(answer).toMatchObject({ code, status: Math.floor(code / 100) })
  expect(names).toEqual([])
}
