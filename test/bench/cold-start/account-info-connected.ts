// The endpoint with a connection to DynamoDB that is opened while Lambda still gives it a whole processor.
import { readItem } from '../../../shared/db/read.ts'

export { handler } from '../../../functions/account/info.ts'

await readItem({ pk: 'nobody', sk: 'nobody' }).catch(() => undefined)
