import { handler } from '../../../functions/account/asset.ts'
import { testAsset } from '../../support/test-asset.ts'

testAsset('account/asset', handler, 'asset')
