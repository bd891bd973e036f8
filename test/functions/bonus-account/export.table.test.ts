import { handler } from '../../../functions/bonus-account/export.ts'
import { testBillExport } from '../../support/test-bill-export.ts'

testBillExport('bonus-account/export', handler, 'reward', 'bonus-account-bills.csv')
