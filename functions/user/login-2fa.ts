import * as v from 'valibot'
import { emitMetric } from '../../shared/emit-metric.ts'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { completeLogin } from '../../shared/sign-in/complete-login.ts'
import { LoginVerifyForm } from '../../shared/sign-in/login-verify-form.ts'

/** Checks the second factor and gives an access_token and a device_token. */
export const handler = publicEndpoint({
  accepts: 'json',
  input: v.object({ body: LoginVerifyForm }),
  output: v.object({
    access_token: v.string(),
    device_token: v.string(),
    /** Epoch milliseconds. */
    expire: v.pipe(v.number(), v.safeInteger()),
    email: v.string(),
  }),
  async run({ input: { body } }) {
    const user = await completeLogin(body.email, body.login_ticket, body.factor)
    emitMetric('SignIns', 1, { dimensions: { method: body.factor.method } })
    return user
  },
})
