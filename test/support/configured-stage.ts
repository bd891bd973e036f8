/** The settings that every deployed stage must have. */
export const configured = {
  authUrl: 'https://auth.example.com/',
  mailFrom: 'no-reply@example.com',
  alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:alarms',
}

/** A standby region with the settings that a stage with alarms must have. */
export const standby = { region: 'eu-west-1', alarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms' }
