import { handler } from '../../../functions/bonus-account/asset.ts'
import { testAsset } from '../../support/test-asset.ts'

testAsset('bonus-account/asset', handler, 'reward')
