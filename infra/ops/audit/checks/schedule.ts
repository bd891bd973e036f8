import type { Check, Finding } from '../controls.ts'

/** The clock calls the rotation: its rule is there, switched on, and leads to the function. */
export const checkSchedule: Check = ({ schedule }) => {
  const wrong = (name: string, message: string): Finding[] => [
    { finding: name, controls: ['pci-3.7.4'], subject: schedule.rule, message },
  ]
  if (!schedule.exists)
    return wrong(
      'schedule_removed',
      'The rule that starts the rotation does not exist: keys are not changed any more.',
    )
  if (!schedule.enabled)
    return wrong(
      'schedule_disabled',
      'The rule that starts the rotation is switched off: keys are not changed any more.',
    )
  if (schedule.expression === undefined) return wrong('schedule_changed', 'The rule has no schedule.')
  return schedule.targets.some((arn) => arn.endsWith(`:function:${schedule.rule}`))
    ? []
    : wrong('schedule_changed', 'The rule does not call the rotation.')
}
