import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import {
  DeviceTokenAnswer,
  exchangeAccessToken,
  ExchangeParameters,
} from '../../shared/oauth/exchange-access-token.ts'

/** Exchanges a first-party access_token, sent in the body or as Bearer, for a device_token. */
export const handler = publicEndpoint({
  accepts: 'json',
  input: v.object({ body: ExchangeParameters }),
  output: DeviceTokenAnswer,
  run: ({ input, request }) => exchangeAccessToken(input.body, request.authorization('bearer')),
})
