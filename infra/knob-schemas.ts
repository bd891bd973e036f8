import * as v from 'valibot'
import { signingKeyTagName } from '../shared/keys/names.ts'
import { outsideSenders } from './events.ts'
import { serviceTag, stageTagName } from './names.ts'

/** Schema of a URL. */
export const Url = v.pipe(v.string(), v.url())

/** Schema of a list of strings, or of one comma-separated string. */
export const List = v.pipe(
  v.union([v.array(v.string()), v.string()]),
  v.transform((value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value)),
  v.transform((parts) => parts.filter((part) => part !== '')),
)

/** Schema of tags as an object, or as one string: `team=payments,cost-center=42`. */
export const Tags = v.pipe(
  v.union([v.record(v.string(), v.string()), v.string()]),
  v.transform((value) => (typeof value === 'string' ? readTags(value) : value)),
  v.record(
    v.pipe(
      v.string(),
      v.regex(/^(?!aws:)[\w .:/=+@-]{1,128}$/, 'must be a tag name that AWS accepts'),
      v.notValues(
        // Reserved tag names. The key rotation manages every KMS key with the signing keys' tag, so no other
        // resource may have it.
        [serviceTag.name, stageTagName, signingKeyTagName],
        'is a tag that the service sets itself',
      ),
    ),
    v.pipe(v.string(), v.regex(/^[\w .:/=+@-]{0,256}$/, 'must be a tag value that AWS accepts')),
  ),
)

/** Schema of principals by sender: roles or users, because a policy compares them with aws:PrincipalArn. */
export const Senders = v.strictObject(
  v.entriesFromList(
    outsideSenders,
    v.optional(
      v.pipe(
        List,
        v.array(
          v.pipe(
            v.string(),
            v.regex(/^arn:[^:]+:iam::\d{12}:(role|user)\/\S+$/, 'must be the ARN of an IAM role or user'),
          ),
        ),
        v.minLength(1, 'must name a principal'),
      ),
    ),
  ),
)

/** Schema of the units that a table takes at once: at least those of a new one. */
export const WarmThroughput = v.strictObject({
  read: v.pipe(v.number(), v.integer(), v.minValue(12_000)),
  write: v.pipe(v.number(), v.integer(), v.minValue(4_000)),
})

/** Schema of the name of a region, such as `eu-west-1`. */
const Region = v.pipe(v.string(), v.regex(/^[a-z]{2,}(-[a-z]+)+-\d$/, 'must be the name of an AWS region'))

/** Schema of a standby region, with the ARNs that take the place of the stage's own after a failover. */
export const Standby = v.pipe(
  v.strictObject({
    region: Region,
    certificateArn: v.optional(v.string()),
    alarmTopicArn: v.optional(v.string()),
  }),
  v.check(
    ({ region: name, certificateArn, alarmTopicArn }) =>
      [certificateArn, alarmTopicArn].every((arn) => arn === undefined || arn.split(':')[3] === name),
    'must name a certificate and a topic in the standby region itself',
  ),
)

function readTags(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*([^=]*)=?(.*?)\s*$/.exec(pair))
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']))
}
