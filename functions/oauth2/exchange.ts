import * as v from 'valibot'
import { byMediaType, publicEndpoint } from '../../shared/http/endpoint.ts'
import { AuthorizationParameters } from '../../shared/oauth/authorization-request.ts'
import { authorize } from '../../shared/oauth/authorize.ts'
import {
  DeviceTokenAnswer,
  exchangeAccessToken,
  ExchangeParameters,
} from '../../shared/oauth/exchange-access-token.ts'

/**
 * Exchanges a first-party access_token, sent in the body or as Bearer, for a device_token. A form is an
 * authorization request instead, as on GET (OpenID Connect Core §3.1.2.1).
 */
export const handler = byMediaType({
  json: publicEndpoint({
    accepts: 'json',
    input: v.object({ body: ExchangeParameters }),
    output: DeviceTokenAnswer,
    run: ({ input, request }) => exchangeAccessToken(input.body, request.authorization('bearer')),
  }),
  form: publicEndpoint({
    accepts: 'form',
    input: v.object({ body: AuthorizationParameters }),
    output: v.never(),
    repeats: 'report',
    run: ({ input, request }) => authorize(input.body, request.rawForm(), request),
  }),
})
