import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { publicDocument } from '../../shared/http/public-document.ts'
import { Discovery, discoveryDocument } from '../../shared/tokens/discovery.ts'

/** Returns the metadata from which clients configure themselves (OpenID Connect Discovery §4). */
export const handler = publicEndpoint({
  dialect: 'oauth',
  // Works during maintenance, too, because other services keep running and find the JWKS by this document.
  answersInMaintenance: true,
  input: v.object({}),
  output: Discovery,
  run: async ({ request }) => publicDocument(discoveryDocument(), request),
})
