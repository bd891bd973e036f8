import * as v from 'valibot'
import { publicEndpoint } from '../../shared/http/endpoint.ts'
import { publicDocument } from '../../shared/http/public-document.ts'
import { Discovery, discoveryDocument } from '../../shared/tokens/discovery.ts'

/** Answers the metadata from which clients configure themselves (OpenID Connect Discovery §4). */
export const handler = publicEndpoint({
  dialect: 'oauth',
  // Other services find the JWKS by this document, and keep running while this service is in maintenance.
  answersInMaintenance: true,
  input: v.object({}),
  output: Discovery,
  run: async ({ request }) => publicDocument(discoveryDocument(), request),
})
