import { asCsv, csvExample, type Operation } from '../operation.ts'

const member = {
  user_id: 43,
  nickname: 'Bob',
  email: 'b***@example.com',
  joined_at: 1_789_000_000_000,
  level: 1,
  direct_count: 2,
  team_count: 5,
  package_amount: 500,
  team_performance: 1250,
  note: 'met in Lisbon',
}

const userId = { type: 'integer', format: 'int64', minimum: 1, description: 'At most 9007199254740991.' }

/** Descriptions and examples of the community and dashboard endpoints. */
export const communityOperations: Record<string, Operation> = {
  'GET /community/members': {
    summary: 'Members of the community',
    description:
      'Direct referrals (`type=DIRECT`) or the whole downline (`type=COMMUNITY`), sorted by `joined_at`, newest first. `keyword` matches without regard to case: the beginning of a word of the nickname, a whole email address, or three or more characters of the masked email address.',
    failures: ['too_many_requests'],
    data: 'CommunityMemberPage',
    example: { records: [member], total: 1, size: 20, current: 1, pages: 1 },
  },
  'GET /community/members/export': {
    summary: 'Export members',
    description: `The newest members for the same filters, as JSON, or ${asCsv}`,
    failures: ['too_many_requests'],
    data: 'MemberExport',
    example: { total: 1, cap: 10_000, truncated: false, records: [member] },
    csv: csvExample(member),
  },
  'POST /community/members/note': {
    summary: 'Note on a direct referral',
    description: 'Sets the caller’s note on one of their direct referrals. An empty string deletes it.',
    checks: { required: ['target_user_id', 'note'], properties: { target_user_id: userId } },
    failures: ['forbidden'],
    form: 'MemberNoteForm',
    request: { target_user_id: 1004, note: 'met in Lisbon' },
  },
  'GET /dashboard/overview': {
    summary: 'Overview',
    description: 'Totals of rewards, devices, traffic and balances. Rows of zero are left out.',
    data: 'DashboardOverviewVO',
    example: {
      network_rewards: 321.5,
      devices: 2,
      traffic_gb: 12.345678901,
      balances: [{ currency: 'USDT', balance: 120.5, bonus_balance: 21.5 }],
      total_earnings: [{ currency: 'USDT', amount: 321.5 }],
      yesterday_earnings: [{ currency: 'USDT', amount: 1.5 }],
    },
  },
  'GET /dashboard/network-rewards': {
    summary: 'Rewards by type',
    description: 'The sum of all rewards, by type and currency.',
    data: 'NetworkRewardVO',
    example: [{ reward_type: 'REFERRAL', currency: 'USDT', amount: 300 }],
  },
  'GET /dashboard/earnings': {
    summary: 'Earnings by day',
    description:
      'One row for every day of the period and every currency earned in it, in ascending order. The default period is the last 30 days; the maximum is 366 days.',
    data: 'EarningPointVO',
    example: [{ date: '2026-09-09', currency: 'USDT', amount: 1.5 }],
  },
}
