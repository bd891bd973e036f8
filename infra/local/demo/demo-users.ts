/** A user of the demo data. */
export interface DemoUser {
  user_id: number
  email: string
  nickname: string
  referrer_id?: number
  totp_secret?: string
  /** Number of whole days from the user's registration to the first start of the local stack. */
  joinedDaysAgo: number
}

/** The password of every demo user; their accounts hold nothing of value. */
export const demoPassword = 'correct horse battery'

/** The demo password as clients send it: its MD5, in hexadecimal. */
export const demoLoginPassword = '88e4ddd2402d92d50e1879d6ecd9ffd4'

const totp_secret = 'JBSWY3DPEHPK3PXP'

/** Alice, the user of the README's example, and her downline, three levels deep. Referrers come first. */
export const demoUsers: DemoUser[] = [
  { user_id: 1001, email: 'alice@example.com', nickname: 'Alice', totp_secret, joinedDaysAgo: 120 },
  { user_id: 1002, email: 'bob@example.com', nickname: 'Bob', referrer_id: 1001, joinedDaysAgo: 100 },
  { user_id: 1003, email: 'carol@example.com', nickname: 'Carol', referrer_id: 1001, joinedDaysAgo: 80 },
  { user_id: 1004, email: 'dave@example.com', nickname: 'Dave', referrer_id: 1001, joinedDaysAgo: 20 },
  { user_id: 1005, email: 'erin@example.com', nickname: 'Erin', referrer_id: 1002, joinedDaysAgo: 75 },
  { user_id: 1006, email: 'frank@example.com', nickname: 'Frank', referrer_id: 1002, joinedDaysAgo: 40 },
  { user_id: 1007, email: 'grace@example.com', nickname: 'Grace', referrer_id: 1003, joinedDaysAgo: 35 },
  { user_id: 1008, email: 'heidi@example.com', nickname: 'Heidi', referrer_id: 1005, joinedDaysAgo: 30 },
  { user_id: 1009, email: 'ivan@example.com', nickname: 'Ivan', referrer_id: 1006, joinedDaysAgo: 10 },
]
