import { outsideSenders } from '../../infra/events.ts'

/** The settings that every deployed stage must have. */
export const configured = {
  authUrl: 'https://auth.example.com/',
  mailFrom: 'no-reply@example.com',
  alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:alarms',
}

/** A standby region with an SNS topic for its alarms. */
export const standby = { region: 'eu-west-1', alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms' }

const role = 'arn:aws:iam::123456789012:role/any'

/** Settings with which a stage has every optional part, such as this project's authorization page. */
export const everything = {
  auditors: role,
  breakGlass: role,
  auditTrail: true,
  authUrl: undefined,
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1',
  edge: { alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:alarms' },
  domainName: 'api.example.com',
  standby: { ...standby, certificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/1' },
  senders: Object.fromEntries(outsideSenders.map((name) => [name, [role]])),
  listeners: { shop: 'arn:aws:events:us-east-1:210987654321:event-bus/shop' },
}
