import * as v from 'valibot'
import { isObject } from '../shared/is-object.ts'
import { Flag, numeric } from '../shared/settings.ts'
import { outsideSenders } from './events.ts'

/** Schema of a URL. */
export const Url = v.pipe(v.string(), v.url())

/** Schema of a list of strings, or of one comma-separated string. */
export const List = v.pipe(
  v.union([v.array(v.string()), v.string()]),
  v.transform((value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value)),
  v.transform((parts) => parts.filter((part) => part !== '')),
)

/**
 * Checks a list that is in the environment of functions. Lambda takes 4 KB of it, of which a function uses up
 * to 2.5 KB for the rest. A longer one would fail only in the middle of a deployment.
 */
export const fitsEnvironment = v.check(
  (parts: string[]) => parts.join().length <= 1_500,
  'must have at most 1,500 characters in all, because Lambda limits the environment of a function',
)

/** Schema of a list of roles and users. Policies compare them with aws:PrincipalArn. */
export const Principals = v.pipe(
  List,
  v.array(
    v.pipe(
      v.string(),
      v.regex(/^arn:[^:]+:iam::\d{12}:(role|user)\/\S+$/, 'must be the ARN of an IAM role or user'),
    ),
  ),
  v.minLength(1, 'must name a principal'),
)

/** Schema of a topic for alarms. Another ARN would fail only in the middle of a deployment. */
export const TopicArn = v.pipe(
  v.string(),
  v.regex(/^arn:[^:]+:sns:[a-z0-9-]+:\d{12}:[\w.-]+$/, 'must be the ARN of an SNS topic'),
)

/** Schema of a certificate of AWS Certificate Manager. */
export const CertificateArn = v.pipe(
  v.string(),
  v.regex(
    /^arn:[^:]+:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
    'must be the ARN of a certificate in AWS Certificate Manager',
  ),
)

/** Schema of the senders: the roles and users that may send the events of each outside system. */
export const Senders = v.strictObject(v.entriesFromList(outsideSenders, v.optional(Principals)))

/** Schema of the listeners: the event buses that get the outcomes of events, by a name of each. */
export const Listeners = v.record(
  v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,20}$/, 'must be a name in lower case')),
  v.pipe(
    v.string(),
    v.regex(/^arn:[^:]+:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]+$/, 'must be the ARN of an event bus'),
  ),
)

const Region = v.pipe(v.string(), v.regex(/^[a-z]{2,}(-[a-z]+)+-\d$/, 'must be the name of an AWS region'))

/** Schema of the configuration of a standby region: its name, certificate and alarm topic. */
export const Standby = v.pipe(
  v.strictObject({
    region: Region,
    certificateArn: v.optional(CertificateArn),
    alarmTopicArn: v.optional(TopicArn),
  }),
  v.check(
    ({ region: name, certificateArn, alarmTopicArn }) =>
      [certificateArn, alarmTopicArn].every((arn) => arn === undefined || arn.split(':')[3] === name),
    'must name a certificate and a topic in the standby region itself',
  ),
)

const EdgeOptions = v.strictObject({
  rate: v.optional(v.pipe(numeric, v.integer(), v.minValue(10), v.maxValue(2_000_000_000)), 600),
  secretNumber: v.optional(v.pipe(numeric, v.integer(), v.minValue(1)), 1),
  alarmTopicArn: v.optional(v.pipe(TopicArn, v.regex(/^arn:[^:]+:sns:us-east-1:/))),
})
export type EdgeOptions = v.InferOutput<typeof EdgeOptions>

const EdgeFlag = v.pipe(
  Flag,
  v.transform((isOn) => isOn && v.parse(EdgeOptions, {})),
)

/**
 * Schema of the knob `edge`: the options of the edge, or a boolean that says whether there is an edge. A
 * union of the two would not name an option that is misspelt.
 */
export const Edge = v.lazy((value) => (isObject(value) ? EdgeOptions : EdgeFlag))
