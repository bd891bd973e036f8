/** Texts by name, kept by the browser. */
export interface Store {
  read: (name: string) => string | undefined
  write: (name: string, text: string) => void
  remove: (name: string) => void
  /** Whether the texts outlive this page. They do not if the browser denies storage. */
  isKept: boolean
}

/** Opens a storage of the browser, or one in memory if the browser denies it. */
function openStore(find: () => Storage): Store {
  try {
    const storage = find()
    // Some browsers offer a storage that refuses every write.
    storage.setItem('probe', '')
    storage.removeItem('probe')
    return {
      read: (name) => storage.getItem(name) ?? undefined,
      write: (name, text) => storage.setItem(name, text),
      remove: (name) => storage.removeItem(name),
      isKept: true,
    }
  } catch {
    const texts = new Map<string, string>()
    return {
      read: (name) => texts.get(name),
      write: (name, text) => void texts.set(name, text),
      remove: (name) => void texts.delete(name),
      isKept: false,
    }
  }
}

/** The storage of this browser profile, for all tabs and until the user clears it. */
export const deviceStore = openStore(() => localStorage)

/** The storage of this tab, which other tabs cannot read and which is deleted when the tab closes. */
export const tabStore = openStore(() => sessionStorage)

/** Reads JSON that this page has stored; undefined if there is none, or it is damaged. */
export function readJson(store: Store, name: string): unknown {
  try {
    const text = store.read(name)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
