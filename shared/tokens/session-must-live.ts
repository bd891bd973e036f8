import type { Write } from '../db/write.ts'
import type { Caller } from './access-token.ts'

/**
 * The member of a transaction that lets it through only while the given token still works. Whoever derives a token or a
 * code from a session puts this beside the write, so that a logout at the same time wins whatever the order.
 */
export const requireLiveSession = ({ key }: Pick<Caller, 'key'>): Write => ({
  ConditionCheck: {
    Key: key,
    ConditionExpression: 'attribute_exists(pk) AND expires_at > :now',
    ExpressionAttributeValues: { ':now': Date.now() },
  },
})
