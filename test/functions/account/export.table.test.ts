import { handler } from '../../../functions/account/export.ts'
import { testBillExport } from '../../support/test-bill-export.ts'

testBillExport('account/export', handler, 'asset', 'account-bills.csv')
