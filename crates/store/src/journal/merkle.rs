//! The Merkle tree of RFC 6962: SHA-256, leaves prefixed with 0x00, nodes with 0x01.

use sha2::{Digest, Sha256};

/// A hash of the tree.
pub type Hash = [u8; 32];

/// The hash of a leaf.
pub fn leaf_hash(data: &[u8]) -> Hash {
    Sha256::new().chain_update([0x00]).chain_update(data).finalize().into()
}

fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([0x01]).chain_update(left).chain_update(right).finalize().into()
}

/// A tree of which only the right edge is kept: the roots of the full subtrees that it falls into, the largest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// One for each bit of `size` that is set.
    edge: Vec<Hash>,
}

impl Tree {
    /// How many leaves it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf by its hash.
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        // Each trailing one of the size is a full subtree that the new one completes.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.edge.pop() {
                hash = node_hash(&left, &hash);
            }
        }
        self.edge.push(hash);
        self.size += 1;
    }

    /// The root.
    pub fn root(&self) -> Hash {
        let mut subtrees = self.edge.iter().rev();
        match subtrees.next() {
            None => Sha256::digest([]).into(),
            Some(last) => subtrees.fold(*last, |right, left| node_hash(left, &right)),
        }
    }

    /// The edge, to go on from later.
    pub(crate) fn edge(&self) -> Vec<u8> {
        self.edge.concat()
    }

    /// Goes on from an edge; `None` where it cannot be that of a tree of this size.
    pub(crate) fn from_edge(size: u64, edge: &[u8]) -> Option<Tree> {
        let hashes =
            edge.chunks(32).map(|chunk| chunk.try_into().ok()).collect::<Option<Vec<Hash>>>()?;
        (hashes.len() == size.count_ones() as usize).then_some(Tree { size, edge: hashes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The leaves and roots that implementations of Certificate Transparency test themselves with.
    #[test]
    fn roots_are_those_of_certificate_transparency() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut tree = Tree::default();
        assert_eq!(
            hex(&tree.root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        for (leaf, root) in leaves.iter().zip(roots) {
            tree.push(leaf_hash(leaf));
            assert_eq!(hex(&tree.root()), root);
        }
    }

    /// The definition of the RFC, word for word: split at the largest power of two below the size.
    fn defined(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => Sha256::digest([]).into(),
            [one] => *one,
            _ => {
                let split = leaves.len().next_power_of_two() / 2;
                node_hash(&defined(&leaves[..split]), &defined(&leaves[split..]))
            }
        }
    }

    #[test]
    fn the_edge_gives_the_root_of_the_definition_at_every_size() {
        let leaves: Vec<Hash> = (0..130_u32).map(|n| leaf_hash(&n.to_be_bytes())).collect();
        let mut tree = Tree::default();
        for size in 0..leaves.len() {
            assert_eq!(tree.root(), defined(&leaves[..size]), "{size}");
            tree = Tree::from_edge(tree.size(), &tree.edge()).unwrap();
            tree.push(leaves[size]);
        }
        assert!(Tree::from_edge(3, &tree.edge()[..32]).is_none());
        assert!(Tree::from_edge(1, &[0; 31]).is_none());
    }
}
