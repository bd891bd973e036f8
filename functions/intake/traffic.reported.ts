import { recordTraffic, TrafficReport } from '../../shared/dashboard/record-events.ts'
import { intake } from '../../shared/events/intake.ts'

/** Adds reported bytes to a user's traffic. */
export const handler = intake({
  detailType: 'traffic.reported',
  detail: TrafficReport,
  key: ({ report_id }) => report_id,
  rejections: ['unknown_user'],
  apply: recordTraffic,
})
