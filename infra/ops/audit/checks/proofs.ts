import type { Check, Finding } from '../controls.ts'
import { isSound } from '../../../../shared/keys/evidence.ts'

/** Every transition left proof that the keys worked: a signature made and verified, and for a disabled key KMS's own word. */
export const checkProofs: Check = ({ evidence }) =>
  evidence.flatMap(({ record }): Finding[] => {
    if (record === undefined) return []
    const name = `evidence ${record.sequence}`
    if (record.check !== null && record.new_kid !== null && !isSound(record.check)) {
      return [
        {
          finding: 'key_taken_unproven',
          controls: ['pci-3.7.4'],
          subject: name,
          message: 'A key was taken into use although its signature did not verify.',
        },
      ]
    }
    if (record.action === 'disable' && !disposed.includes(record.kms_state ?? '')) {
      return [
        {
          finding: 'disposal_unproven',
          controls: ['pci-3.7.5'],
          subject: name,
          message: `A retired key left the ring while KMS called it ${record.kms_state ?? 'nothing'}.`,
        },
      ]
    }
    return []
  })

const disposed = ['Disabled', 'PendingDeletion', 'Deleted']
