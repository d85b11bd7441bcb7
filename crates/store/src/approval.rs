//! Approvals: a person's word on one exact action, once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};

use crate::word::words;
use crate::{ApprovalId, Millis, RequestId, SessionId, StoreError};

/// An approval to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApproval {
    /// Its id, made by [`crate::Ids`].
    pub id: ApprovalId,
    /// The request that waits.
    pub request: RequestId,
    /// Who asked for the action.
    pub principal: String,
    /// The session it came in.
    pub session: SessionId,
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The digest of the contract that it would run under.
    pub revision: String,
    /// The digest of exactly what would be sent.
    pub action_digest: String,
    /// What the approver is shown, as JSON text. Sealed.
    pub card: String,
    /// After this it is void.
    pub expires: Millis,
    /// When.
    pub at: Millis,
}

words! {
    /// Where an approval stands.
    pub enum ApprovalState {
        /// Nobody has decided.
        Pending = "pending",
        /// It may be redeemed once.
        Approved = "approved",
        /// It was denied.
        Denied = "denied",
        /// It was used.
        Redeemed = "redeemed",
        /// Something changed, and it covers nothing any more.
        Void = "void",
    }
}

/// An approval as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The request that waits.
    pub request: RequestId,
    /// Who asked for the action.
    pub principal: String,
    /// The session it came in.
    pub session: SessionId,
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The digest of the contract that it would run under.
    pub revision: String,
    /// The digest of exactly what would be sent.
    pub action_digest: String,
    /// What the approver is shown; `None` after it was erased.
    pub card: Option<String>,
    /// After this it is void.
    pub expires: Millis,
    /// When it was asked for.
    pub at: Millis,
    /// Where it stands. A pending or approved one whose time is over covers nothing, whatever stands here.
    pub state: ApprovalState,
    /// The approver, or what made it void.
    pub by: Option<String>,
}

/// Which approvals are asked for, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalQuery {
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Where they stand.
    pub states: Vec<ApprovalState>,
    /// At most so many.
    pub limit: u32,
}

words! {
    /// What an approver decided.
    pub enum Ruling {
        /// The action may be carried out, once.
        Approved = "approved",
        /// It may not.
        Denied = "denied",
    }
}

/// An approver's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The approval.
    pub id: ApprovalId,
    /// The decision.
    pub ruling: Ruling,
    /// The approver, by the name under which the key is enrolled.
    pub by: String,
    /// An Ed25519 signature over [`signed_text`], in base64. An approval demands one; a denial may do without.
    pub signature: Option<String>,
    /// When.
    pub at: Millis,
}

/// The answer to an approval that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redeemed {
    /// It covered this action, and is used up now.
    Once,
    /// It covers nothing, for this reason.
    Not(WhyNot),
}

words! {
    /// Why an approval covers nothing.
    pub enum WhyNot {
        /// Nobody has decided yet.
        Pending = "pending",
        /// It was denied.
        Denied = "denied",
        /// It was used before.
        Used = "used",
        /// Something changed.
        Void = "void",
        /// Its time is over.
        Expired = "expired",
        /// It was given for another action.
        OtherAction = "other-action",
    }
}

/// A person whose key may approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approver {
    /// The name.
    pub name: String,
    /// The Ed25519 public key, 32 bytes in base64.
    pub public_key: String,
    /// When it was enrolled.
    pub at: Millis,
}

/// The text that an approver signs. It names the action by its digest, so that no other one is covered.
pub fn signed_text(id: ApprovalId, action_digest: &str, expires: Millis, ruling: Ruling) -> String {
    format!("steadfast approval v1\n{id}\n{action_digest}\n{expires}\n{ruling}\n")
}

/// Reads a public key of an approver.
pub(crate) fn public_key(text: &str) -> Result<VerifyingKey, StoreError> {
    let wrong = || StoreError::Unsigned {
        why: "The public key is not an Ed25519 key of 32 bytes in base64.".into(),
    };
    let bytes: [u8; 32] =
        STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(wrong)?;
    let key = VerifyingKey::from_bytes(&bytes).map_err(|_| wrong())?;
    // A weak key has signatures that fit any text.
    if key.is_weak() { Err(wrong()) } else { Ok(key) }
}

/// Whether this key signed this settlement of this approval.
pub(crate) fn check(
    key: &str,
    settlement: &Settlement,
    action_digest: &str,
    expires: Millis,
) -> Result<(), StoreError> {
    let by = &settlement.by;
    let Some(signature) = &settlement.signature else {
        return match settlement.ruling {
            Ruling::Denied => Ok(()),
            Ruling::Approved => Err(StoreError::Unsigned {
                why: format!(
                    "The approval of {} carries no signature; it stays pending.",
                    settlement.id
                ),
            }),
        };
    };
    let text = signed_text(settlement.id, action_digest, expires, settlement.ruling);
    let signature =
        STANDARD.decode(signature).ok().and_then(|bytes| Signature::from_slice(&bytes).ok());
    let fits = signature.is_some_and(|signature| {
        public_key(key).is_ok_and(|key| key.verify_strict(text.as_bytes(), &signature).is_ok())
    });
    if fits {
        Ok(())
    } else {
        Err(StoreError::Unsigned {
            why: format!(
                "The signature on {} was not made with the key enrolled as {by}; it stays pending.",
                settlement.id
            ),
        })
    }
}
