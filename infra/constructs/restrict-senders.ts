import { type EventBus, EventBusPolicy } from 'aws-cdk-lib/aws-events'
import { AnyPrincipal, ArnPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { ownSource } from '../../shared/env.ts'
import type { Config } from '../config.ts'
import { serviceTag, stageTagName } from '../names.ts'
import { events, outsideSenders } from '../events.ts'

/**
 * Restricts, in the bus's policy, who may send events with which `source`. IAM policies cannot override this.
 * Only roles of this stage may use the service's own source. If `senders` names principals for another
 * source, only they may use it. `events:source` can have several values, so conditions need a set operator
 * (EventBridge: Using IAM policy conditions). Statement ids contain the stage's name, because they must be
 * unique in a region (https://github.com/aws/aws-cdk/issues/29627).
 */
export function restrictSenders(bus: EventBus, { serviceName, stage, senders }: Config): void {
  const from = (source: string) => ({ 'ForAnyValue:StringEquals': { 'events:source': source } })
  const add = (
    sid: string,
    effect: Effect,
    principals: (AnyPrincipal | ArnPrincipal)[],
    conditions: Record<string, Record<string, unknown>>,
  ) => {
    const { policyDependable } = bus.addToResourcePolicy(
      new PolicyStatement({
        sid: `${serviceName}-${sid}`,
        effect,
        principals,
        actions: ['events:PutEvents'],
        resources: [bus.eventBusArn],
        conditions,
      }),
    )
    if (policyDependable instanceof EventBusPolicy) withoutPrincipal(policyDependable)
  }
  // Two statements deny every role that lacks one of the tags. A single statement would deny only roles that
  // lack both.
  for (const [sid, tag, value] of [
    ['own-events-service', serviceTag.name, serviceTag.value],
    ['own-events-stage', stageTagName, stage],
  ] as const)
    add(sid, Effect.DENY, [new AnyPrincipal()], {
      ...from(ownSource),
      StringNotEquals: { [`aws:PrincipalTag/${tag}`]: value },
    })
  for (const sender of outsideSenders) {
    const arns = senders[sender]
    if (arns === undefined) continue
    const sent = events.filter((event) => event.senders.includes(sender))
    add(
      `${sender}-may`,
      Effect.ALLOW,
      arns.map((arn) => new ArnPrincipal(arn)),
      {
        'ForAllValues:StringEquals': { 'events:source': sender },
        // A condition with ForAllValues also holds for a request that lacks the key.
        Null: { 'events:source': 'false' },
        StringEquals: { 'events:detail-type': sent.map(({ detailType }) => detailType) },
      },
    )
    add(`${sender}-only`, Effect.DENY, [new AnyPrincipal()], {
      ...from(sender),
      ArnNotEquals: { 'aws:PrincipalArn': arns },
    })
  }
}

/**
 * Takes the deprecated property `principal` from a policy, which has a statement instead. A rule of cdk-nag
 * (EVB1) reads the property, and synthesis would print its deprecation.
 */
const withoutPrincipal = ({ node: { defaultChild } }: EventBusPolicy) =>
  Object.defineProperty(defaultChild, 'principal', { value: undefined })
