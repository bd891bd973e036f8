import { KMSClient } from '@aws-sdk/client-kms'
import { clientOptions } from './client-options.ts'

/** The client of KMS, which holds every key that the service uses; no private key ever leaves it. */
export const kms = new KMSClient(clientOptions())
