import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { deleteSigningKeys } from '../../shared/keys/delete.ts'
import { errorSummary, log } from '../../shared/log.ts'

/**
 * The custom resource `Custom::SigningKeys`. When CloudFormation deletes it with the property `DeleteKeys`,
 * the signing keys are deleted. They are made at run time, so no template has them.
 */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  try {
    const { RequestType, ResourceProperties: properties } = event
    // CloudFormation passes booleans as text.
    if (RequestType === 'Delete' && properties['DeleteKeys'] === 'true')
      log.info('deleted signing keys', { arns: await deleteSigningKeys() })
    await answer(event, 'SUCCESS')
  } catch (error) {
    log.error('the signing keys were not deleted', { cause: errorSummary(error) })
    await answer(event, 'FAILED')
  }
}

/**
 * Tells CloudFormation the result (CloudFormation User Guide: custom resource response objects). Throws if
 * the answer does not arrive: Lambda then calls the function again, as CloudFormation invokes it
 * asynchronously.
 */
async function answer(event: CloudFormationCustomResourceEvent, status: 'SUCCESS' | 'FAILED'): Promise<void> {
  const { RequestId, StackId, LogicalResourceId, ResponseURL } = event
  const { ok, status: httpStatus } = await fetch(ResponseURL, {
    method: 'PUT',
    // Bytes, because fetch would name a content type for text, and the URL is signed without one.
    body: Buffer.from(
      JSON.stringify({
        Status: status,
        Reason: 'see the log of the function delete-signing-keys',
        PhysicalResourceId: 'signing-keys',
        RequestId,
        StackId,
        LogicalResourceId,
      }),
    ),
    signal: AbortSignal.timeout(10_000),
  })
  if (!ok) throw new Error(`CloudFormation refused the answer with status ${httpStatus}`)
}
