import * as v from 'valibot'
import { emitMetric } from '../../shared/emit-metric.ts'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { completeLogin, LoginVerifyForm } from '../../shared/sign-in/code/complete-login.ts'

/** Checks the second factor and issues an access_token and a device_token. */
export const handler = publicEndpoint({
  accepts: 'json',
  input: v.object({ body: LoginVerifyForm }),
  output: v.object({
    access_token: v.string(),
    device_token: v.string(),
    /** When the access_token expires, epoch milliseconds. */
    expire: v.pipe(v.number(), v.safeInteger()),
    email: v.string(),
  }),
  async run({ input: { body }, request }) {
    const user = await completeLogin(body, request.sourceIp)
    emitMetric('SignIns', 1, { dimensions: { method: body.method } })
    return user
  },
})
