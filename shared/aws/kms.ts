import { KMSClient } from '@aws-sdk/client-kms'
import { clientOptions } from './client-options.ts'

/** The KMS client. KMS holds every key that the service uses; no private key ever leaves it. */
export const kms = new KMSClient(clientOptions())
